import { requestedBrowserAction } from '@rondo/contract';
import { pascalCase } from '@rondo/contract/api';
import type { z } from 'zod';
import * as sandboxes from '../sandboxes/sandbox.dto';

type Schemas = Readonly<Record<string, z.ZodType>>;

const browserActions = Object.fromEntries(
  requestedBrowserAction.options.map((option) => [`${pascalCase(option.shape.type.value)}BrowserAction`, option]),
);

/** Sandboxes, their files and their browsers, as `named-schemas.ts` has them. */
export const sandboxSchemas = {
  responses: {
    Sandbox: sandboxes.SandboxDto.schema,
    SandboxPage: sandboxes.SandboxPageDto.schema,
    SandboxStatus: sandboxes.SandboxStatusDto.schema,
    FileList: sandboxes.FileListDto.schema,
    WrittenFile: sandboxes.WrittenFileDto.schema,
    BrowserScreen: sandboxes.BrowserScreenDto.schema,
  },
  requests: {
    BrowserOperation: sandboxes.BrowserOperationDto.schema,
    BrowserAction: requestedBrowserAction,
    ...browserActions,
  },
} satisfies Record<'responses' | 'requests', Schemas>;
