import { crc32, deflateRawSync } from 'node:zlib';

interface ZipOptions {
  /** What the archive claims of each entry instead of its real size. */
  readonly declaredSize?: number;
  readonly isEncrypted?: boolean;
}

/** A zip archive with these entries. */
export function createZip(entries: Readonly<Record<string, Buffer>>, options: ZipOptions = {}): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const { local, directory } = createEntry(name, content, { ...options, offset });
    locals.push(local);
    central.push(directory);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

function createEntry(name: string, content: Buffer, options: ZipOptions & { offset: number }) {
  const data = deflateRawSync(content);
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(options.isEncrypted ? 1 : 0, 2);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(data.length, 14);
  fields.writeUInt32LE(options.declaredSize ?? content.length, 18);
  fields.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), fields, Buffer.from(name), data]);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(options.offset, 10);
  const head = Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), fields]);
  return { local, directory: Buffer.concat([head, tail, Buffer.from(name)]) };
}
