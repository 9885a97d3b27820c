import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PlainPartHeaders } from './part-headers';

const head = (name: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n`;
const content = '\u0000\r\n--\u0001\r\n\r\n\u0002\r\n--b\u0003';
const part = (name: string) => `\r\n--B\r\n${head(name)}${content}`;
const form = (first: string, second: string) => Buffer.from(`${part(first)}${part(second)}\r\n--B--\r\n`);

it.each(['multipart/form-data; boundary=B', 'multipart/form-data; Boundary="B"; charset=utf-8'])(
  'a form of %s has tabs for the control characters of its headers only, wherever its chunks end',
  async (contentType) => {
    const sent = form('a\u0000\u001bb', '\u007fräume\u0007');

    for (let size = 1; size <= sent.length; size += 1) {
      const count = Math.ceil(sent.length / size);
      const chunks = Array.from({ length: count }, (_, index) => sent.subarray(index * size, (index + 1) * size));
      const passed = await buffer(Readable.from(chunks).pipe(new PlainPartHeaders(contentType)));

      expect(passed.toString()).toBe(form('a\t\tb', '\träume\t').toString());
    }
  },
);
