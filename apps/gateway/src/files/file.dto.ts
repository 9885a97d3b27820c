import { fileId, sha256 } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { pageOf, pageQuery } from '../http/paging';

const example = {
  id: 'file_01KB3M8YQ8M4Z1T7N0V6R2C5XD',
  name: 'sales.csv',
  size: 18_204,
  media_type: 'text/plain',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  created_at: '2026-11-25T09:00:00.000Z',
};

export const uploadedFile = z
  .object({
    id: fileId,
    name: z.string().describe('As the client named it, without control and format characters.'),
    size: z.number().int().describe('In bytes.'),
    media_type: z.string().describe('As its first bytes say, whatever the client declared.'),
    sha256,
    created_at: z.iso.datetime().describe('A day later it is deleted, unless a run refers to it.'),
  })
  .meta({ examples: [example] });

export class UploadedFileDto extends createZodDto(uploadedFile) {}
export class UploadedFilePageDto extends createZodDto(pageOf(uploadedFile)) {}
export class UploadedFileQueryDto extends createZodDto(pageQuery) {}
