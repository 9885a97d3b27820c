import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (name: string): string => readFileSync(join(__dirname, 'in-page', name), 'utf8');

/** Defines `rondo` in the world in which it is evaluated. In a function of its own, so that it may be evaluated again. */
export const inPageSource = `(() => { 'use strict';\n${['visibility.cjs', 'element-index.cjs', 'page-actions.cjs'].map(read).join('\n')}\n})()`;
