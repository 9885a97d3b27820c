import * as contract from '@rondo/contract';
import type { z } from 'zod';
import * as projects from '../projects/project.dto';

type Schemas = Readonly<Record<string, z.ZodType>>;

/** Projects, and what is read without a key, as `named-schemas.ts` has them. */
export const projectSchemas = {
  responses: {
    Project: contract.project,
    NameSource: contract.nameSource,
    ProjectSandbox: contract.projectSandbox,
    ProjectPage: projects.ProjectPageDto.schema,
    PublicProject: projects.publicProject,
    PublicThread: projects.publicThread,
    PublicThreadPage: projects.PublicThreadPageDto.schema,
    PublicRun: projects.publicRun,
    PublicMessage: projects.publicMessage,
    PublicMessagePage: projects.PublicMessagePageDto.schema,
  },
  requests: {
    NewProject: projects.NewProjectDto.schema,
    ProjectChange: projects.ProjectChangeDto.schema,
  },
} satisfies Record<'responses' | 'requests', Schemas>;
