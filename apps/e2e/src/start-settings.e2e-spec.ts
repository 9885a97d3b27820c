import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silent } from '../../../deploy/local/progress.mjs';
import { startServices } from '../../../deploy/local/services/services.mjs';
import { findGatewayAddress, loadSettings } from '../../../deploy/local/services/start-settings.mjs';

describe('npm start', () => {
  it('reads .env as an editor of Windows has written it, after the environment', () => {
    const folder = mkdtempSync(join(tmpdir(), 'start-settings-'));
    const file = join(folder, '.env');
    writeFileSync(
      file,
      '\uFEFFPORT=4000\r\nexport HOST="::1" # mine\r\nMODEL_PROVIDERS=\'[\r\n]\'\r\nLOG_LEVEL=debug\r\n',
    );
    const environment: Record<string, string> = { LOG_LEVEL: 'warn' };

    loadSettings(file, environment);

    expect(environment).toMatchObject({ PORT: '4000', HOST: '::1', LOG_LEVEL: 'warn' });
    expect(JSON.parse(environment['MODEL_PROVIDERS'] ?? '')).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it.each(['abc', '65536', '-1', '3000.5', '0x10'])('refuses the port %s by the name of its variable', async (PORT) => {
    await expect(findGatewayAddress({ PORT })).rejects.toThrow(
      `PORT must be a whole number up to 65535, not "${PORT}".`,
    );
  });

  it.each(['nowhere.invalid', '192.0.2.1'])('does not take the host %s for a port in use', async (HOST) => {
    await expect(findGatewayAddress({ PORT: '3140', HOST })).rejects.toThrow(
      `HOST=${HOST} is no address of this machine`,
    );
  });

  it('names another port for one that is taken, and chooses one for 0', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens on TCP

    await expect(findGatewayAddress({ PORT: `${port}`, HOST: '' })).rejects.toThrow(
      `Port ${port} is taken by another program.`,
    );
    server.close();
    const { port: chosen, host } = await findGatewayAddress({ PORT: '0' });
    expect(chosen).toBeGreaterThan(0);
    expect(host).toBe('127.0.0.1');
  });

  it('shows what every service finds wrong with its settings, not only the first', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'start-services-'));
    const failed: { name: string; detail?: string }[] = [];
    const complain = (service: string) =>
      `setTimeout(() => { console.error('  OF_${service}: wrong'); process.exit(1); }, ${service === 'gateway' ? 0 : 300})`;

    const starting = startServices({
      dataDir,
      infrastructure: {},
      instances: ['gateway', 'tool-executor'],
      log: { ...silent, failed: (line) => failed.push(line) },
      launch: ({ service, env }) => ({ file: process.execPath, args: ['--eval', complain(service)], env }),
    });

    await expect(starting).rejects.toThrow('OF_gateway: wrong');
    expect(failed.toSorted((a, b) => a.name.localeCompare(b.name))).toMatchObject([
      { name: 'gateway', detail: expect.stringContaining('OF_gateway: wrong') },
      { name: 'tool-executor', detail: expect.stringContaining('OF_tool-executor: wrong') },
    ]);
    rmSync(dataDir, { recursive: true });
  });
});
