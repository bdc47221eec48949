// Line icons of 16 × 16 units, drawn in the colour of the text.

const PATHS = {
  home: 'M2.5 7.5 8 3l5.5 4.5V13H10V9.5H6V13H2.5z',
  sql: 'M3 4.5 6.5 8 3 11.5M8 12h5',
  data: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 6.5v6',
  model: 'M8 2.8v3M8 5.8 4.2 9M8 5.8 11.8 9M4.2 9v3.6M11.8 9v3.6M2.7 12.6h3M10.3 12.6h3',
  runs: 'M8 2.5a5.5 5.5 0 1 0 5.5 5.5M8 5v3l2 1.5',
  plugin: 'M6 2.5v3M10 2.5v3M4 5.5h8V8a4 4 0 0 1-8 0zM8 12v2',
  server: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1',
  docs: 'M3 3h4.2c.5 0 .8.4.8.8V13c0-.6-.4-1-1-1H3zM13 3H8.8c-.5 0-.8.4-.8.8V13c0-.6.4-1 1-1h4z',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  whole: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  choose:
    'M2.5 4.5v-2h2M7 2.5h2M11.5 2.5h2v2M13.5 7v2M13.5 11.5v2h-2M9 13.5H7M4.5 13.5h-2v-2M2.5 9V7',
  close: 'M4 4l8 8M12 4l-8 8',
  play: 'M5 3.5v9l7-4.5z',
  stop: 'M4.5 4.5h7v7h-7z',
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8M10 10l3.5 3.5',
  copy: 'M5.5 5.5h7.5V13H5.5zM3 10.5V3h7.5',
  link: 'M7 9.5a2.5 2.5 0 0 0 3.5 0l2-2A2.5 2.5 0 0 0 9 4l-.8.8M9 6.5a2.5 2.5 0 0 0-3.5 0l-2 2A2.5 2.5 0 0 0 7 12l.8-.8',
  down: 'M8 2.5v7.5M4.5 7 8 10.5 11.5 7M3 13h10',
  chevron: 'M6 4l4 4-4 4',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5',
  pin: 'M6 2.5h4M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5',
  eye: 'M1.8 8C3.5 5 5.5 3.8 8 3.8S12.5 5 14.2 8c-1.7 3-3.7 4.2-6.2 4.2S3.5 11 1.8 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z',
  code: 'M5.5 4 1.8 8l3.7 4M10.5 4l3.7 4-3.7 4M9 3 7 13',
  chart: 'M2.5 2.5v11h11M5.5 10.5V8M8.5 10.5v-6M11.5 10.5v-4',
  upload: 'M8 10.5V3M4.5 6.5 8 3l3.5 3.5M3 13h10',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  save: 'M3 3h8l2 2v8H3zM5.5 3v3.5h5V3M5.5 13V9.5h5V13',
  again: 'M13 4v3.2H9.8M12.7 7A5 5 0 1 0 13 9.5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
