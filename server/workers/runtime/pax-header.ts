// A tar header that gives the next entry a name or a target with arbitrary bytes.

const blockBytes = 512;
/** Octal digits, followed by a NUL. */
const fields = { mode: 100, size: 124, checksum: 148, type: 156, magic: 257 } as const;

/** The header block, its records, and the padding of the last block. */
export function paxHeader(records: Readonly<Record<string, Buffer>>): Buffer {
  const content = Buffer.concat(Object.entries(records).map(([key, value]) => record(key, value)));
  const header = Buffer.alloc(blockBytes);
  header.write('PaxHeader');
  header.write('0000644', fields.mode);
  header.write(content.length.toString(8).padStart(11, '0'), fields.size);
  header.write('x', fields.type);
  header.write('ustar\u000000', fields.magic, 'latin1');
  // The checksum is computed with spaces in its own place.
  header.fill(' ', fields.checksum, fields.checksum + 8);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, fields.checksum, 'latin1');
  const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes);
  return Buffer.concat([header, content, padding]);
}

/** `<length> <key>=<value>\n`, where the length includes its own digits. */
function record(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length += 1;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
