import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { z } from 'zod';
import { assemble } from '../../../deploy/images/assemble.mjs';
import { images } from '../../../deploy/images/contents.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { run } from '../../../deploy/local/run-program.mjs';

const dockerfile = readFileSync(join(repoRoot, 'deploy/Dockerfile'), 'utf8');
const manifest = z
  .object({ version: z.string(), dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(repoRoot, 'package.json'), 'utf8')));

/** Imported by nothing but types. */
const onlyTypes = ['@types/busboy', 'socket.io'];

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 50>>stream
BT /F1 12 Tf 20 100 Td (Hello from a file) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
`;

/** The last stage that a stage of the Dockerfile is based on, and its own instructions. */
function createStage(name: string) {
  const stage = dockerfile.split(/^FROM /m).find((text) => text.split('\n')[0]?.endsWith(` AS ${name}`)) ?? '';
  return { system: stage.split(' ')[0], instructions: stage };
}

let folder: string;
let assembled: ReturnType<typeof assemble>;
beforeAll(() => {
  folder = mkdtempSync('/var/tmp/rondo-image-contents-');
  assembled = assemble({ root: repoRoot, to: folder });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const createContents = (image: string) => {
  const found = assembled.find((one) => one.image === image);
  if (!found) throw new Error(`there is no image ${image}`);
  return found;
};

/** The places of all packages in a folder, links to libraries left out: `node_modules/a/node_modules/b`. */
function packagesBelow(root: string, parent = ''): string[] {
  const modules = join(parent, 'node_modules');
  if (!existsSync(join(root, modules))) return [];
  const names = readdirSync(join(root, modules)).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(root, modules, name)).map((inner) => `${name}/${inner}`) : name,
  );
  const places = names.filter((name) => !name.startsWith('@rondo/')).map((name) => join(modules, name));
  return places.flatMap((place) => [
    ...(existsSync(join(root, place, 'package.json')) ? [place] : []),
    ...packagesBelow(root, place),
  ]);
}

describe('deploy/Dockerfile', () => {
  it.each(Object.keys(images))('has a target %s that copies what was assembled for it', (image) => {
    const { system, instructions } = createStage(image);

    expect(system).toBe(images[image]?.system);
    expect(instructions).toContain(`COPY --from=build /images/${image} ./`);
    expect(instructions).toContain(`org.opencontainers.image.title="rondo-${image}"`);
    expect(instructions).not.toMatch(/^USER/m);
  });

  it('starts programs that are in the image', () => {
    for (const { image, files } of assembled) {
      const [, program] = /^(?:CMD|ENTRYPOINT) \[.*"node", "([^"]+)"/m.exec(createStage(image).instructions) ?? [];
      expect(files).toContain(program);
    }
  });

  it('ends every system as an ordinary user', () => {
    for (const system of ['runtime', 'sandbox-runtime']) {
      expect(
        createStage(system)
          .instructions.match(/^USER .+$/gm)
          ?.at(-1),
      ).toBe('USER node');
    }
  });

  it('names the version of this repository', () => {
    expect(createStage('runtime').instructions).toContain(`org.opencontainers.image.version="${manifest.version}"`);
  });
});

describe('the contents of images', () => {
  it('hold every dependency in some image', () => {
    const held = new Set(assembled.flatMap(({ packages }) => packages));
    const absent = Object.keys(manifest.dependencies).filter((name) => !held.has(`node_modules/${name}`));

    expect(absent.sort()).toEqual([...onlyTypes].sort());
  });

  it('give the executor no client of Postgres', () => {
    const { packages, libraries } = createContents('tool-executor');
    const clients = packages.filter((place) => /node_modules\/(pg|@prisma\/.*)$/.test(place));

    expect(libraries).not.toContain('libs/persistence');
    expect(clients).toEqual([]);
  });

  it('are free of tests, types and source maps', () => {
    const superfluous = /\.(map|ts|spec\.js)$|\/testing\//;
    const own = assembled.flatMap(({ files }) => files.filter((file) => !file.startsWith('node_modules/')));

    expect(own.filter((file) => superfluous.test(file))).toEqual([]);
  });

  it.each(Object.keys(images))('list every package of %s in its bill of materials, and no other', (image) => {
    const component = z.object({ type: z.string(), 'bom-ref': z.string().optional() });
    const bill = z
      .object({ bomFormat: z.literal('CycloneDX'), components: z.array(component) })
      .parse(JSON.parse(readFileSync(join(folder, image, 'sbom.cdx.json'), 'utf8')));
    const named = z.object({ name: z.string(), version: z.string() });
    const present = packagesBelow(join(folder, image)).map((place) => {
      const { name, version } = named.parse(
        JSON.parse(readFileSync(join(folder, image, place, 'package.json'), 'utf8')),
      );
      return `${name}@${version}`;
    });

    const listed = bill.components.flatMap(({ type, 'bom-ref': ref }) => (type === 'library' ? (ref ?? []) : []));
    expect([...new Set(listed)].sort()).toEqual([...new Set(present)].sort());
  });
});

describe('the licences of others', () => {
  const heading = /^={80}\n(\S+) (\S+) \(.*\)\n={80}\n\n([^]*?)(?=\n={80}\n|$(?![^]))/gm;
  const noticesIn = (file: string) =>
    new Map([...readFileSync(file, 'utf8').matchAll(heading)].map(([, name, , text = '']) => [name ?? '', text]));

  it.each(Object.keys(images))('are in %s, for each package with its text', (image) => {
    const notices = noticesIn(join(folder, image, 'THIRD_PARTY_NOTICES.txt'));

    const { packages } = createContents(image);
    const names = packages.map((place) => {
      const { name } = JSON.parse(readFileSync(join(repoRoot, place, 'package.json'), 'utf8')) as { name: string };
      return name;
    });
    expect([...notices.keys()].sort()).toEqual([...new Set(names)].sort());
    for (const [name, text] of notices) expect([name, text.length > 150]).toEqual([name, true]);
  });

  it('are beside the command line, for each package in its bundle', () => {
    const bundle = join(folder, 'cli/apps/cli/dist');
    const scripts = readdirSync(bundle).filter((file) => file.endsWith('.mjs'));
    const bundled = scripts.flatMap((file) =>
      [...readFileSync(join(bundle, file), 'utf8').matchAll(/^\/\/ \S*node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map(
        ([, name = '']) => name,
      ),
    );

    expect(bundled).toContain('zod');
    expect([...noticesIn(join(bundle, 'THIRD_PARTY_NOTICES.txt')).keys()].sort()).toEqual([...new Set(bundled)].sort());
  });

  it('are beside the console, for what its pages are made of', () => {
    const notices = noticesIn(join(folder, 'gateway/apps/console/dist/THIRD_PARTY_NOTICES.txt'));

    for (const name of [
      'react',
      'react-dom',
      'scheduler',
      '@tanstack/react-query',
      '@tanstack/query-core',
      '@tanstack/react-router',
    ])
      expect(notices.get(name)).toContain('Permission is hereby granted');
  });

  it('have that of libvips, with how to use another one', () => {
    const libvips = [...noticesIn(join(folder, 'tool-executor/THIRD_PARTY_NOTICES.txt'))].filter(([name]) =>
      name.startsWith('@img/sharp-libvips'),
    );

    expect(libvips).not.toEqual([]);
    for (const [, text] of libvips) {
      expect(text).toContain('GNU LESSER GENERAL PUBLIC LICENSE');
      expect(text).toContain('To use a modified libvips');
    }
  });
});

describe('services that have only the files of their images', () => {
  let rondo: RunningRondo;
  beforeAll(async () => {
    rondo = await RunningRondo.start({
      launch: ({ service, env }) => ({
        file: process.execPath,
        args: [`apps/${service}/dist/main.js`],
        cwd: join(folder, service),
        env,
      }),
    });
  });
  afterAll(() => rondo.stop());

  it('serve a run of the command line that has only the files of its image', async () => {
    const { url, key } = rondo.client();
    const { stdout } = await run(
      process.execPath,
      ['apps/cli/bin/rondo.mjs', 'run', '--model', 'demo/coder', 'Write a small program and run it.'],
      { cwd: join(folder, 'cli'), env: { PATH: process.env['PATH'], RONDO_URL: url, RONDO_API_KEY: key } },
    );

    expect(stdout).toContain('FizzBuzz');
  });

  it('start, and serve a run whose commands run in a sandbox', async () => {
    const client = rondo.client();
    const run = await client.createRun({ model: 'demo/coder', input: 'Write a small program and run it.' });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    expect((await client.toolOutputs(run.id)).join('\n')).toContain('FizzBuzz');
  });

  it('read documents and images, with packages that are loaded late', async () => {
    const client = rondo.client();
    const calls = [
      call('create_file', { file_path: 'note.pdf', file_contents: pdf }),
      command(`echo ${png} | base64 -d > dot.png`),
      call('pdf_text_extract', { file_path: 'note.pdf' }),
      call('load_image', { file_path: 'dot.png' }),
    ];
    const turns = [...calls.map((one) => ({ calls: [one] })), { text: 'Seen.' }];
    const run = await client.createRun({
      ...scriptInput('Look at both.', turns),
      tools: calls.map(({ name }) => name),
    });

    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    const { data } = await client.json<{ data: { name: string; status: string }[] }>(
      'GET',
      `/runs/${run.id}/tool-calls`,
    );
    expect(data.map(({ name, status }) => ({ name, status }))).toEqual(
      calls.map(({ name }) => ({ name, status: 'completed' })),
    );
    expect((await client.toolOutputs(run.id))[2]).toContain('Hello from a file');
  });

  it('show the console', async () => {
    const response = await fetch(`${rondo.services.get('gateway').url}/console/`);

    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<div id="root"');
  });
});
