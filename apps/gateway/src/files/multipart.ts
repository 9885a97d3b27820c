import type { Readable } from 'node:stream';
import busboy from 'busboy';
import type { Request } from 'express';
import { ApiError, InvalidRequest } from '../problems/api-error';

export interface FilePart {
  readonly name: string;
  readonly content: Readable;
}

const longestName = 1_000;
const fieldName = 'file';
const multipart = /^multipart\/form-data *(;|$)/i;

/**
 * The only part of a form, given on while it arrives. Rejects with the first error of the form, the client or `store`,
 * after `store` has seen its content fail and has ended.
 */
export function readFilePart<T>(request: Request, store: (part: FilePart) => Promise<T>): Promise<T> {
  const form = formOf(request);
  return new Promise((resolve, reject) => {
    let stored: Promise<T> | undefined;
    let hasFailed = false;
    const fail = (error: unknown) => {
      if (hasFailed) return;
      hasFailed = true;
      request.unpipe(form);
      form.destroy(error instanceof Error ? error : undefined);
      const rejectNow = () => {
        reject(error); // the only kind of value that is thrown here is an error
      };
      if (stored) stored.then(rejectNow, rejectNow);
      else rejectNow();
    };
    const refuse = (field: string, message: string) => {
      fail(new InvalidRequest([{ field, message }]));
    };

    form.on('file', (field, content, { filename }) => {
      content.on('error', ignore); // the reader gets the error too
      if (field !== fieldName) refuse(field, 'unknown field');
      else if (stored) refuse(field, 'one file per request');
      else {
        stored = store({ name: nameOf(filename), content });
        stored.catch(fail);
      }
    });
    form.on('field', (field) =>
      refuse(field, field === fieldName ? 'must be a file, with a filename' : 'unknown field'),
    );
    form.on('error', (error) => fail(error instanceof ApiError ? error : malformed));
    form.on('close', () => {
      if (stored) stored.then(resolve, reject);
      else refuse(fieldName, 'give a file');
    });
    request.once('close', () => {
      if (!request.complete) fail(malformed);
    });
    request.pipe(form);
  });
}

function formOf({ headers }: Request): busboy.Busboy {
  const { 'content-type': type = '' } = headers;
  if (!multipart.test(type)) throw new ApiError('unsupported_media_type', 'The body must be multipart/form-data.');
  try {
    return busboy({ headers, defParamCharset: 'utf8', limits: { fields: 10, files: 2, fieldSize: 1_000 } });
  } catch {
    throw malformed; // no boundary
  }
}

const nameOf = (filename: string | undefined): string => (filename ?? '').slice(0, longestName) || 'file';
const malformed = new ApiError('malformed_request', 'The form could not be read to its end.');
const ignore = () => undefined;
