import { placeOfTraceparent, toTraceparent } from './tracing';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('traceparent', () => {
  it('is read with its flag', () => {
    expect(placeOfTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, isSampled: true });
    expect(placeOfTraceparent(`00-${traceId}-${spanId}-00`)).toEqual({ traceId, spanId, isSampled: false });
    expect(placeOfTraceparent(`00-${traceId}-${spanId}-03`)).toMatchObject({ isSampled: true });
  });

  it('may be longer in a later version', () => {
    expect(placeOfTraceparent(`01-${traceId}-${spanId}-01-more`)).toEqual({ traceId, spanId, isSampled: true });
  });

  it.each([
    undefined,
    '',
    'nonsense',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}-01\r\nx: y`,
  ])('is ignored if it is not well formed: %j', (header) => {
    expect(placeOfTraceparent(header)).toBeUndefined();
  });

  it('is written so that it is read again', () => {
    expect(placeOfTraceparent(toTraceparent({ traceId, spanId }))).toEqual({ traceId, spanId, isSampled: true });
  });
});
