import { posix } from 'node:path';
import { toFailedResult } from '@rondo/contract';
import { wholeFile } from '../../sandboxes/provider/workspace-file';
import { ServiceProblem } from '../../services/service-client';
import { aboutFile } from '../files/about-file';
import { describeText, saveText, textPath } from '../documents/extracted-text';
import { type ToolInput, type ToolHandler, toSuccess } from '../tool-handler';
import { withinTime } from '../within-time';

/** OpenAI refuses larger files. */
const largestRecording = 25 * 1024 * 1024;
const formats = ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'ogg', 'wav', 'webm'];

export const transcribe: ToolHandler<ToolInput<'transcribe'>> = {
  mutexKey: ({ file_path }) => `file ${textPath(file_path)}`,
  handle: ({ file_path, language }, context) =>
    aboutFile(file_path, async (path) => {
      const { transcription } = context.services;
      if (!transcription) return toFailedResult('This installation has no service that writes down speech.');
      const format = posix.extname(path).slice(1).toLowerCase();
      if (!formats.includes(format))
        return toFailedResult(`${path} is not one of ${formats.join(', ')}. Convert it with a command first.`);
      const bytes = await wholeFile(context.sandbox.files, path, largestRecording);
      if (!bytes)
        return toFailedResult(`${path} is larger than ${largestRecording / 1024 / 1024} MB. Cut it into parts.`);
      if (bytes.length === 0) return toFailedResult(`${path} is empty.`);
      return withinTime(context, async (signal) => {
        try {
          const text = await transcription.read({ name: `recording.${format}`, bytes, language }, signal);
          if (text.trim() === '') return toSuccess(`[${path}: nothing is said in it]`);
          const read = { format, text, truncated: false };
          return describeText(path, read, await saveText(path, read, context.sandbox.files));
        } catch (error) {
          if (error instanceof ServiceProblem) return toFailedResult(error.message);
          throw error;
        }
      });
    }),
};
