import { assemble } from './assemble.mjs';
import { repoRoot } from '../local/repo-root.mjs';

/** `node deploy/images/main.mjs TO DEBIAN`: a step of deploy/Dockerfile. */
const [to, debian] = process.argv.slice(2);
for (const { image, files, packages } of assemble({ root: repoRoot, to, debian })) {
  console.log(`${image}: ${files.length} files, ${packages.length} packages`);
}
