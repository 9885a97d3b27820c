'use strict';

/** An error about the request itself. Any other error is answered as `failed`. */
class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const codesOfSystemErrors = {
  ENOENT: 'not_found',
  EEXIST: 'already_exists',
  EISDIR: 'not_a_file',
  ENXIO: 'not_a_file',
  ENOTDIR: 'not_a_directory',
  ELOOP: 'invalid_path',
  ENAMETOOLONG: 'invalid_path',
};

/** The wire format of any error. */
function describeFailure(error) {
  if (error instanceof Failure) return { code: error.code, message: error.message };
  return { code: codesOfSystemErrors[error.code] ?? 'failed', message: String(error.message).slice(0, 2000) };
}

module.exports = { Failure, describeFailure };
