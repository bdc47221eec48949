// Metrics in the text form of Prometheus.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function parseMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line): Sample[] => {
    const match = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (match === null) return [];
    const labels = Object.fromEntries(
      [...(match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [
        name as string,
        (value as string).replace(/\\(.)/g, (_, letter: string) =>
          letter === 'n' ? '\n' : letter,
        ),
      ]),
    );
    return [{ name: match[1] as string, labels, value: Number(match[3]) }];
  });
}

export function sumOf(samples: readonly Sample[], name: string): number {
  return samples.reduce((sum, sample) => (sample.name === name ? sum + sample.value : sum), 0);
}
