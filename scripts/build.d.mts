export function build(options?: { tolerateTypeErrors?: boolean }): Promise<number>;
