// Small rar files, stored without compression: no free program writes them.
import { crc32 } from 'node:zlib';

const MARKER = Buffer.from('526172211a0700', 'hex');
const MARKER_5 = Buffer.from('526172211a070100', 'hex');

/** RAR 4: blocks of a head with a CRC-16, then content. */
export function rar4(files: Readonly<Record<string, string>>): Buffer {
  const block = (type: number, flags: number, fields: Buffer, content = Buffer.alloc(0)) => {
    const head = Buffer.alloc(7);
    head.writeUInt8(type, 2);
    head.writeUInt16LE(flags, 3);
    head.writeUInt16LE(7 + fields.length, 5);
    const all = Buffer.concat([head, fields]);
    all.writeUInt16LE(crc32(all.subarray(2)) & 0xffff, 0);
    return Buffer.concat([all, content]);
  };
  const blocks = Object.entries(files).map(([name, text]) => {
    const content = Buffer.from(text);
    const fields = Buffer.alloc(25 + name.length);
    fields.writeUInt32LE(content.length, 0);
    fields.writeUInt32LE(content.length, 4);
    fields.writeUInt8(3, 8); // Unix
    fields.writeUInt32LE(crc32(content), 9);
    fields.writeUInt32LE(0x50221863, 13); // 2020-01-02 03:03:06
    fields.writeUInt8(20, 17);
    fields.writeUInt8(0x30, 18); // stored
    fields.writeUInt16LE(name.length, 19);
    fields.writeUInt32LE(0o100644, 21);
    fields.write(name, 25);
    return block(0x74, 0x8000, fields, content);
  });
  return Buffer.concat([
    MARKER,
    block(0x73, 0, Buffer.alloc(6)),
    ...blocks,
    block(0x7b, 0x4000, Buffer.alloc(0)),
  ]);
}

/** RAR 5: heads with a CRC-32, whose numbers are of variable length (here nearly all below 128). */
export function rar5(files: Readonly<Record<string, string>>): Buffer {
  const block = (fields: Buffer, content = Buffer.alloc(0)) => {
    const head = Buffer.concat([Buffer.of(fields.length), fields]);
    const sum = Buffer.alloc(4);
    sum.writeUInt32LE(crc32(head));
    return Buffer.concat([sum, head, content]);
  };
  const blocks = Object.entries(files).map(([name, text]) => {
    const content = Buffer.from(text);
    const sum = Buffer.alloc(4);
    sum.writeUInt32LE(crc32(content));
    // The attributes are those of a plain file, 0o100644.
    const start = Buffer.of(2, 2, content.length, 4, content.length, 0xa4, 0x83, 0x02);
    const end = Buffer.of(0, 1, name.length, ...Buffer.from(name));
    return block(Buffer.concat([start, sum, end]), content);
  });
  return Buffer.concat([MARKER_5, block(Buffer.of(1, 0, 0)), ...blocks, block(Buffer.of(5, 0, 0))]);
}
