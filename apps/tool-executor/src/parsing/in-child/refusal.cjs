'use strict';

/** Why the input is not read. The message is for the model, which has to know what to do instead. */
class Refusal extends Error {}

module.exports = { Refusal };
