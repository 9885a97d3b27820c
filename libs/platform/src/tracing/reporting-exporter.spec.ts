import { ReportingExporter } from './reporting-exporter';

const span = {} as never; // no field is read

function fixture(code: 0 | 1) {
  const lines: object[] = [];
  const inner = {
    export: (_: unknown, onResult: (result: { code: 0 | 1; error?: Error }) => void) =>
      onResult({ code, ...(code === 1 && { error: new Error('connection refused') }) }),
    shutdown: () => Promise.resolve(),
  };
  const exporter = new ReportingExporter(inner, { warn: (fields: object) => void lines.push(fields) } as never); // a logger that only warns
  const results: number[] = [];
  const send = () => exporter.export([span, span], (result) => results.push(result.code));
  return { send, lines, results };
}

describe('ReportingExporter', () => {
  it('says once that spans are lost', () => {
    const { send, lines, results } = fixture(1);

    for (let times = 0; times < 3; times += 1) send();

    expect(lines).toEqual([{ spans: 2, reason: 'connection refused' }]);
    expect(results).toEqual([1, 1, 1]);
  });

  it('says nothing when all is well', () => {
    const { send, lines, results } = fixture(0);

    send();

    expect([lines, results]).toEqual([[], [0]]);
  });
});
