import { loadConfig } from '@rondo/platform';
import { environment } from './environment';

export const config = loadConfig(environment);
