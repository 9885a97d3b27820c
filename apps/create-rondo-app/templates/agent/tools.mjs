/** In the place of your own database. */
const orders = new Map([
  ['17', { status: 'shipped', carrier: 'Post', arrives: 'tomorrow' }],
  ['18', { status: 'in preparation' }],
]);

/** The model reads `description` and `parameters`, and is told what a handler returns or throws. */
export const tools = {
  find_order: {
    description: 'Finds an order by its number.',
    parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
    effect_class: 'pure', // it changes nothing
    handler: ({ number }) => {
      const order = orders.get(String(number));
      if (!order) throw new Error(`There is no order ${String(number)}.`);
      return order;
    },
  },
  cancel_order: {
    description: 'Cancels an order that has not been shipped.',
    parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
    require_approval: true, // a person decides about each call
    handler: ({ number }) => {
      const order = orders.get(String(number));
      if (order?.status !== 'in preparation') throw new Error('Only an order in preparation can be cancelled.');
      orders.delete(String(number));
      return 'It is cancelled.';
    },
  },
};
