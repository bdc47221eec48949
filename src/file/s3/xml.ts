// Small XML documents as trees, for the replies of services.

export interface XmlElement {
  readonly name: string;
  /** the text between its tags, without that of elements inside */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** The document's root; an element without name when the text is no XML. */
export async function parseXml(text: string): Promise<XmlElement> {
  const { Parser } = await import('htmlparser2');
  const document: OpenElement = { name: '', text: '', children: [] };
  const open = [document];
  const parser = new Parser(
    {
      onopentagname(name) {
        const element: OpenElement = { name, text: '', children: [] };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      ontext(part) {
        const current = open.at(-1);
        if (current !== undefined) current.text += part;
      },
      onclosetag() {
        if (open.length > 1) open.pop();
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(text);
  return document.children[0] ?? document;
}

interface OpenElement extends XmlElement {
  text: string;
  readonly children: OpenElement[];
}

/** The text of the first child of that name; "" when there is none. */
export function childText(element: XmlElement, name: string): string {
  return element.children.find((child) => child.name === name)?.text ?? '';
}

/** The children of an element that have a name, in their order. */
export function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}
