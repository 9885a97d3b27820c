import { provideByClass } from './provide-by-class';

class Boat {}
class Oar {}

describe('provideByClass', () => {
  it('provides each object under its class', () => {
    const boat = new Boat();
    expect(provideByClass([boat])).toEqual([{ provide: Boat, useValue: boat }]);
  });

  it('provides an object that is listed twice once', () => {
    const boat = new Boat();
    expect(provideByClass([boat, boat])).toHaveLength(1);
  });

  it('provides neither of two objects of a class', () => {
    expect(provideByClass([new Oar(), new Oar(), new Boat()])).toEqual([{ provide: Boat, useValue: expect.any(Boat) }]);
  });

  it('provides no plain object, function or text', () => {
    expect(provideByClass([{ a: 1 }, () => 1, 'text', undefined, null])).toEqual([]);
  });
});
