import { NatsContext } from '@nestjs/microservices';
import { headers } from 'nats';
import { ActiveRuns } from './active-runs';

describe('attack: service credentials', () => {
  it('a stop that JetStream was made to send to the workers', () => {
    process.env['LOG_LEVEL'] = 'silent';
    Object.assign(process.env, { DATABASE_URL: 'x', REDIS_URL: 'x', NATS_URL: 'nats://x', PORT: '0' });
    const { SignalsController } = jest.requireActual<typeof import('./signals.controller')>('./signals.controller');
    const held = new ActiveRuns();
    const stop = jest.spyOn(held, 'stop');
    const controller = new SignalsController(held);
    const words = { run_id: 'run_1', requested_at: new Date().toISOString(), reason: null };
    const bounced = headers();
    bounced.set('Nats-Stream', 'TOOL_RESULTS');

    controller.stop(words, new NatsContext(['runs.stop', bounced]));
    expect(stop).not.toHaveBeenCalled();

    controller.stop(words, new NatsContext(['runs.stop', undefined]));
    expect(stop).toHaveBeenCalledTimes(1);
  });
});
