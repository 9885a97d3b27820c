import type { Readable } from 'node:stream';
import busboy from 'busboy';
import type { Request } from 'express';
import { ApiError, refuseField } from '../problems/api-error';
import { PlainPartHeaders } from './part-headers';

export interface FilePart {
  /** As the client sent it, without directories and invisible characters, and never empty, unless the form keeps paths. */
  readonly name: string;
  readonly content: Readable;
}

/** What a form may have. Text of any other name, and more of anything, is refused by its name. */
export interface FormShape {
  /** The name of every file. */
  readonly fileField: string;
  readonly mostFiles: number;
  readonly textFields: readonly string[];
  /** Of each text. */
  readonly textBytes: number;
  /** Names of files are given on as they were sent, with directories: the reader checks them. */
  readonly keepsPaths?: boolean;
}

export interface ReadForm<T> {
  readonly files: readonly T[];
  readonly texts: ReadonlyMap<string, string>;
}

const longestName = 1_000;
const multipart = /^multipart\/form-data *(;|$)/i;
export const isForm = ({ headers }: Request): boolean => multipart.test(headers['content-type'] ?? '');

/**
 * A form whose files are given on while they arrive, one after another. Rejects with the first error of the form, the client
 * or `store`, after every `store` has ended: each has seen its content fail, or was complete.
 */
export function readForm<T>(
  request: Request,
  shape: FormShape,
  store: (part: FilePart) => Promise<T>,
): Promise<ReadForm<T>> {
  const form = toForm(request, shape);
  const headers = new PlainPartHeaders(request.headers['content-type'] ?? '');
  const texts = new Map<string, string>();
  const stored: Promise<T>[] = [];
  return new Promise((resolve, reject) => {
    let hasFailed = false;
    const fail = (error: unknown) => {
      if (hasFailed) return;
      hasFailed = true;
      request.unpipe(headers);
      form.destroy(error instanceof Error ? error : undefined);
      void Promise.allSettled(stored).then(() => {
        reject(error); // the only kind of value that is thrown here is an error
      });
    };
    const refuse = (field: string, message: string) => {
      fail(refuseField(field, message));
    };

    form.on('file', (field, content, { filename }) => {
      content.on('error', ignore); // the reader gets the error too
      const problem = findFileProblem(field, stored.length, shape);
      if (problem !== undefined) {
        refuse(field, problem);
        return;
      }
      const file = store({ name: shape.keepsPaths ? (filename ?? '') : toFileName(filename), content });
      stored.push(file);
      file.catch(fail);
    });
    form.on('field', (field, text, { valueTruncated }) => {
      if (field === shape.fileField) refuse(field, 'must be a file, with a filename');
      else if (!shape.textFields.includes(field)) refuse(field, 'unknown field');
      else if (texts.has(field)) refuse(field, 'given twice');
      else if (valueTruncated) fail(new ApiError('payload_too_large', `The text of ${field} is too long.`));
      else texts.set(field, text);
    });
    form.on('error', (error) => fail(error instanceof ApiError ? error : malformed));
    form.on('close', () => {
      Promise.all(stored).then((files) => resolve({ files, texts }), ignore); // `fail` has the error
    });
    if (request.destroyed) fail(malformed); // its client left before
    request.once('close', () => {
      if (!request.complete) fail(malformed);
    });
    request.pipe(headers).pipe(form);
  });
}

function findFileProblem(field: string, count: number, { fileField, mostFiles }: FormShape): string | undefined {
  if (field !== fileField) return 'unknown field';
  if (count < mostFiles) return undefined;
  return mostFiles === 1 ? 'one file per request' : `at most ${mostFiles} files per request`;
}

function toForm(request: Request, { mostFiles, textBytes, keepsPaths = false }: FormShape): busboy.Busboy {
  if (!isForm(request)) throw new ApiError('unsupported_media_type', 'The body must be multipart/form-data.');
  const limits = { fields: 10, files: mostFiles + 1, fieldSize: textBytes };
  try {
    return busboy({ headers: request.headers, defParamCharset: 'utf8', preservePath: keepsPaths, limits });
  } catch {
    throw malformed; // no boundary
  }
}

/** Control and format characters make a name look like another one, and PostgreSQL stores no NUL. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
export const toFileName = (filename = ''): string =>
  filename.slice(0, longestName).replaceAll(invisible, '').trim() || 'file';
const malformed = new ApiError('malformed_request', 'The form could not be read to its end.');
const ignore = () => undefined;
