import { z } from 'zod';

/** What a sandbox does, as its executor says. The API describes each. */
export const sandboxState = z.enum(['awake', 'asleep', 'archived', 'deleted', 'absent']);
