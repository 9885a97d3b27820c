import { Controller } from '@nestjs/common';
import { runReads } from '@rondo/contract/api';
import { clientSignal } from '../http/client-signal';
import { Route, type RouteInput } from '../http/route';
import { Rewinds } from './rewinds';

@Controller()
export class RewindsController {
  constructor(private readonly rewinds: Rewinds) {}

  @Route(runReads.previewRewind)
  previewRewind({ address, query, request, response }: RouteInput<typeof runReads.previewRewind>) {
    const { at_seq: atSeq, message_id: messageId } = query;
    const { accountId } = address;
    const moment = messageId === undefined ? { ...address, atSeq } : { accountId, messageId };
    return this.rewinds.preview(moment, clientSignal(request, response));
  }
}
