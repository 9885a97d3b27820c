/** Links and file names in the Markdown files below this directory that lead nowhere. */
export function brokenReferences(root: string): string[];
