import { defineScript } from '../script/script';

const part = (name: string): RegExp => new RegExp(`<${name}-(\\w+)>\\n(.*?)\\n</${name}-\\1>`, 's');
const plain = (text: string): string => text.replaceAll(/\W/g, '').toLowerCase();

export const judge = defineScript({
  description:
    'Judges an answer as `rondo eval score` asks: right if it is the true answer but for case, space and signs.',
  play({ task }) {
    const [, mark = '', answer = ''] = part('answer').exec(task) ?? [];
    const [, , trueAnswer = ''] = part('true-answer').exec(task) ?? [];
    if (mark === '') return { text: 'There is nothing to judge.' };
    const isRight = plain(answer) === plain(trueAnswer);
    return {
      text: `The answer says ${isRight ? 'the same' : 'something else'}.\nVERDICT-${mark}: ${isRight ? 'right' : 'wrong'}`,
    };
  },
});
