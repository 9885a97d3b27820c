import { z } from 'zod';
import { fileId } from '../ids';
import { sha256 } from '../image';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const uploadedFile = z
  .object({
    id: fileId,
    name: z.string().describe('As the client named it, without control and format characters.'),
    size: z.number().int().describe('In bytes.'),
    media_type: z.string().describe('As its first bytes say, whatever the client declared.'),
    sha256,
    created_at: z.iso.datetime().describe('A day later it is deleted, unless a run refers to it.'),
  })
  .meta({
    examples: [
      {
        id: 'file_01KB3M8YQ8M4Z1T7N0V6R2C5XD',
        name: 'sales.csv',
        size: 18_204,
        media_type: 'text/plain',
        sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        created_at: '2026-11-25T09:00:00.000Z',
      },
    ],
  });

const uploadedFilePage = createPage(uploadedFile);

const form = {
  schema: { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } },
  examples: { form: { value: { file: 'the bytes of sales.csv' } } },
};

export const files = defineRoutes('files', {
  uploadFile: {
    method: 'POST',
    path: '/v1/files',
    client: 'files',
    summary: 'Upload a file',
    description: 'A form with one part, `file`. One that no run refers to is deleted after a day.',
    rawBody: { 'multipart/form-data': form },
    answers: { 201: { body: uploadedFile, location: '/v1/files/{id}' } },
    problems: [
      'malformed_request',
      'payload_too_large',
      'unsupported_media_type',
      'file_quota_exceeded',
      'too_many_bytes_in_flight',
    ],
  },
  listUploadedFiles: {
    method: 'GET',
    path: '/v1/files',
    summary: 'List uploaded files, newest first',
    query: pageQuery,
    answers: { 200: { body: uploadedFilePage } },
  },
  getUploadedFile: {
    method: 'GET',
    path: '/v1/files/{file_id}',
    client: 'files',
    summary: 'Read what is known of an uploaded file',
    answers: { 200: { body: uploadedFile } },
  },
  readUploadedFile: {
    method: 'GET',
    path: '/v1/files/{file_id}/content',
    client: 'files',
    summary: 'Read the content of an uploaded file',
    answers: { 200: { bytes: ['application/octet-stream'] } },
  },
  deleteUploadedFile: {
    method: 'DELETE',
    path: '/v1/files/{file_id}',
    summary: 'Delete an uploaded file',
    description:
      'What runs have got in their workspaces stays. A run that has not got it yet is told that it is missing.',
    audit: 'file.delete',
    answers: { 204: {} },
  },
});

export const fileSchemas: ApiSchemas = {
  answers: { UploadedFile: uploadedFile, UploadedFilePage: uploadedFilePage },
};
