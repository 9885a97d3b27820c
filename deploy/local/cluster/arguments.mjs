export const help = `npm run cluster              starts a Kubernetes of one node on this machine, installs the Helm chart on it with the images of
                             this checkout, and proves it: runs, killed pods, upgrades, drains, scaling, volumes
npm run cluster -- --only helm-test,drain    only these proofs: PROOFS
npm run cluster -- --keep-images             with the images that were built last
npm run cluster -- --down    stops the cluster
npm run cluster -- --clean   stops it, and removes all that was built

Linux on x64, as root, with the packages of Debian 12. Everything is below .data/cluster and .data/images, some 15 GB. The first time
takes half an hour: Kubernetes is compiled from Debian's source.`;

const actions = ['--help', '--down', '--clean'];

/**
 * What the command line asks for. Throws an error that names the word that it does not know.
 *
 * @param {readonly string[]} words
 * @param {readonly string[]} proofs
 * @returns {{ action: 'prove' | 'help' | 'down' | 'clean', only: readonly string[], keepImages: boolean }}
 */
export function parseArguments(words, proofs) {
  const rest = [...words];
  const parsed = { action: 'prove', only: proofs, keepImages: false };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (actions.includes(word)) parsed.action = word.slice(2);
    else if (word === '--keep-images') parsed.keepImages = true;
    else if (word === '--only') parsed.only = chooseProofs(rest.shift(), proofs);
    else throw new Error(`There is no option ${word}; see --help.`);
  }
  return parsed;
}

function chooseProofs(list = '', proofs) {
  const names = list.split(',').filter(Boolean);
  const unknown = names.find((name) => !proofs.includes(name));
  if (unknown || names.length === 0) throw new Error(`--only takes ${proofs.join(', ')}; not "${unknown ?? list}".`);
  return proofs.filter((name) => names.includes(name));
}
