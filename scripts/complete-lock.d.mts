export function missingPackages(lock: object): { name: string; version: string }[];
