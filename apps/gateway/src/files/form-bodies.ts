import { type FormText, mostFiles } from '@rondo/contract/api';
import type { Caller } from '@rondo/persistence';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { parseJson } from '../http/body';
import { refuseField } from '../problems/api-error';
import type { FileUploads } from './file-uploads';

export interface FormBody {
  /** What a JSON request would have as its body, with the ids of the files. */
  readonly body: object;
  /** Says the same for the same form: ids of files differ each time, and their content does not. */
  readonly identity: object;
}

/** A request whose body may be a form, and the texts that the form of its route may have. */
interface FormRequest {
  readonly request: Request;
  readonly response: Response;
  readonly text: FormText;
  readonly fields?: readonly string[] | undefined;
}

const jsonField = 'body';
const jsonObject = z.record(z.string(), z.unknown());

/**
 * A request as a form: `files`, one text, and the other fields of the body as JSON in `body`. Its files are stored like any
 * upload. They are deleted at once if the request is refused, or was answered before.
 */
export class FormBodies {
  constructor(
    private readonly uploads: Pick<FileUploads, 'receiveForm' | 'discard'>,
    private readonly textBytes: number,
  ) {}

  async read(caller: Caller, { request, response, text, fields: others = [] }: FormRequest): Promise<FormBody> {
    const textFields = [jsonField, text, ...others];
    const shape = { fileField: 'files', mostFiles, textFields, textBytes: this.textBytes };
    const { files, texts } = await this.uploads.receiveForm(caller, request, shape);
    response.once('close', () => {
      const wasUsed = response.statusCode < 300 && response.getHeader('Idempotent-Replayed') === undefined;
      if (!wasUsed) void this.uploads.discard(caller, files);
    });
    const fields = toFields(texts);
    if (files.length === 0) return { body: fields, identity: fields };
    return {
      body: { ...fields, files: files.map(({ id }) => id) },
      identity: { ...fields, files: files.map(({ name, sha256 }) => [name, sha256]) },
    };
  }
}

function toFields(texts: ReadonlyMap<string, string>): Record<string, unknown> {
  const { [jsonField]: json, ...given } = Object.fromEntries(texts);
  const parsed = jsonObject.safeParse(json === undefined ? {} : parseJson(Buffer.from(json)));
  if (!parsed.success) throw refuseField(jsonField, 'must be a JSON object');
  for (const field of ['files', ...Object.keys(given)])
    if (field in parsed.data) throw refuseField(field, 'give it in the form or in `body`, not in both');
  return { ...parsed.data, ...given };
}
