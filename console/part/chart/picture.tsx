// A drawn picture that follows the width it has.
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../state/api.ts';

type Drawing = typeof import('./plot.ts');

export function Picture({
  label,
  height,
  draw,
  inputs,
}: {
  /** what it shows, for those who do not see it */
  readonly label: string;
  readonly height: number;
  readonly draw: (drawing: Drawing, size: { width: number; height: number }) => Element;
  /** drawn anew when one of these changes */
  readonly inputs: readonly unknown[];
}) {
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const element = holder.current as HTMLDivElement;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0) return;
    let isGone = false;
    import('./plot.ts')
      .then((drawing) => {
        if (isGone) return;
        holder.current?.replaceChildren(draw(drawing, { width, height }));
        setProblem(undefined);
      })
      .catch((thrown: unknown) => setProblem(messageOf(thrown)));
    return () => {
      isGone = true;
    };
  }, [width, height, ...inputs]);
  return (
    <>
      <div ref={holder} class="picture" role="img" aria-label={label} />
      {problem !== undefined && <p class="wrong">{problem}</p>}
    </>
  );
}

/** The SVG of a picture with its colours written out, as it stands by itself. */
export function pictureSvg(holder: ParentNode): SVGSVGElement | undefined {
  const svg = holder.querySelector<SVGSVGElement>('.picture svg:last-of-type');
  if (svg === null) return undefined;
  const copy = svg.cloneNode(true) as SVGSVGElement;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  const style = getComputedStyle(document.documentElement);
  const colours = (text: string) =>
    text.replace(/var\((--[\w-]+)\)/g, (_, name: string) => style.getPropertyValue(name).trim());
  copy.innerHTML = colours(copy.innerHTML);
  copy.style.color = style.getPropertyValue('--text').trim();
  copy.style.background = style.getPropertyValue('--ground').trim();
  return copy;
}

export async function svgToPng(svg: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg.outerHTML)}`;
  await image.decode();
  const scale = 2;
  const canvas = document.createElement('canvas');
  canvas.width = Number(svg.getAttribute('width')) * scale;
  canvas.height = Number(svg.getAttribute('height')) * scale;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob === null ? reject(new Error('the picture is too large')) : resolve(blob),
    ),
  );
}
