import { TunnelError } from '@rondo/messaging';
import { ApiError, retryAfter, refuseField } from '../problems/api-error';

export const unavailable = (detail: string): ApiError => new ApiError('sandbox_unavailable', detail, retryAfter(1));

/** The executor's words are about the request, and fit for its client. */
export function asApiError(error: unknown): unknown {
  if (!(error instanceof TunnelError)) return error;
  switch (error.code) {
    case 'not_found':
      return new ApiError('file_not_found', error.message);
    case 'client_left':
      return new ApiError('malformed_request', error.message);
    case 'too_large':
      return new ApiError('payload_too_large', error.message);
    case 'invalid_path':
    case 'invalid_request':
    case 'not_a_file':
    case 'not_a_directory':
      return refuseField('path', error.message);
    case 'browser_not_running':
      return new ApiError('browser_not_running', error.message);
    case 'browser_busy':
      return new ApiError('browser_busy', error.message, retryAfter(2));
    case 'not_listening':
    case 'executor_away':
    case 'executor_busy':
    case 'unavailable':
    case 'tunnel_lost':
    case 'lost':
      return unavailable(error.message);
    default:
      return new ApiError('sandbox_refused', error.message);
  }
}

/** For a client that has the URL of a preview, and no business with the API. */
export function asPreviewError(error: unknown): unknown {
  if (!(error instanceof TunnelError)) return error;
  switch (error.code) {
    case 'not_found':
      return new ApiError('preview_not_found', error.message);
    case 'executor_busy':
      return new ApiError('preview_unavailable', error.message, retryAfter(1));
    default:
      return new ApiError('preview_unavailable', error.message);
  }
}

/** Why an executor has no earlier files of a workspace. Undefined where it says nothing about that. */
export function whyNotKept(error: unknown): string | undefined {
  if (!(error instanceof TunnelError)) return undefined;
  switch (error.code) {
    case 'unsupported':
    case 'failed':
      return error.message;
    case 'invalid_request':
      return 'The executor that has this sandbox is of a version that keeps no earlier states of files.';
    default:
      return undefined;
  }
}

/** An executor of an earlier version does not know the request, and says so as of any that is not valid. */
export function asErrorOfNewer(error: unknown, lacks: string): unknown {
  if (!(error instanceof TunnelError) || error.code !== 'invalid_request') return asApiError(error);
  return new ApiError('sandbox_refused', `The executor that has this sandbox is of a version that ${lacks}.`);
}
