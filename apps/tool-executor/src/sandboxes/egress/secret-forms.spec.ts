import { toForms } from './secret-forms';

describe('the forms of a secret', () => {
  const value = 'a/b+c=d&e "f" <g>';
  const forms = toForms(value);

  it.each([
    ['as it is', value],
    ['in a URL', 'a%2Fb%2Bc%3Dd%26e%20%22f%22%20%3Cg%3E'],
    ['in a URL, in small letters', 'a%2fb%2bc%3dd%26e%20%22f%22%20%3cg%3e'],
    ['in a path', 'a/b%2Bc%3Dd%26e%20%22f%22%20%3Cg%3E'],
    ['in a form', 'a%2Fb%2Bc%3Dd%26e+%22f%22+%3Cg%3E'],
    ['in the JSON of JavaScript', String.raw`a/b+c=d&e \"f\" <g>`],
    ['in the JSON of PHP', String.raw`a\/b+c=d&e \"f\" <g>`],
    ['in the JSON of Go', String.raw`a/b+c=d\u0026e \"f\" \u003cg\u003e`],
    ['in the JSON of .NET', String.raw`a/b\u002Bc=d\u0026e \u0022f\u0022 \u003Cg\u003E`],
    ['in Base64', Buffer.from(value).toString('base64')],
    ['in Base64 for URLs', Buffer.from(value).toString('base64url')],
  ])('have it %s', (_, form) => {
    expect(forms).toContain(form);
  });

  it.each(['', 'x', 'xy', 'xyz'])('have it in Base64 behind %j', (before) => {
    const text = Buffer.from(`${before}${value} and more`).toString('base64');
    expect(forms.some((form) => text.includes(form))).toBe(true);
  });

  it('have it as the password of a user', () => {
    expect(toForms(value, 'me')).toContain(Buffer.from(`me:${value}`).toString('base64'));
  });
});
