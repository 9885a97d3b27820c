import fc from 'fast-check';
import { longestRendered, renderTemplate, templateProblem } from './template';

describe('renderTemplate', () => {
  const body = { issue: { title: 'It breaks', labels: ['bug', 'urgent'], number: 7, closed: false, by: null } };

  it('replaces paths by what is there', () => {
    expect(renderTemplate('{{body.issue.title}} #{{ body.issue.number }}', { body })).toBe('It breaks #7');
    expect(renderTemplate('{{body.issue.labels.1}} {{body.issue.labels}}', { body })).toBe('urgent ["bug","urgent"]');
    expect(renderTemplate('[{{body.issue.by}}{{body.nothing.at.all}}] {{body.issue.closed}}', { body })).toBe(
      '[] false',
    );
  });

  it('shortens long values, and says so', () => {
    const rendered = renderTemplate('{{body}}', { body: '\u{1F600}'.repeat(20_000) });

    expect(rendered).toMatch(/ \(40000 characters in all\)$/);
    expect(rendered.length).toBeLessThan(20_100);
  });
});

describe('attack: hostile bodies of webhooks', () => {
  it('a value that is a template', () => {
    const body = { text: '{{body.secret}} {{constructor}}', secret: 'x' };

    expect(renderTemplate('{{body.text}}', { body })).toBe(body.text);
    expect(renderTemplate('{{body.text}}', { body: { text: '$& $1 $`' } })).toBe('$& $1 $`');
  });

  it('paths to what every object inherits', () => {
    for (const path of [
      'constructor',
      'constructor.name',
      '__proto__',
      'toString',
      'a.constructor',
      'a.length.constructor',
    ]) {
      expect(renderTemplate(`{{body.${path}}}`, { body: { a: 'text' } })).toBe('');
    }
    expect(renderTemplate('{{body.__proto__.x}}', { body: JSON.parse('{"__proto__":{"x":1}}') as unknown })).toBe('1');
  });

  it('any JSON: never throws, and never renders more than the bound', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.string(), (json, path) => {
        const template = `{{body}}{{body.${path}}}`.repeat(20);
        expect(renderTemplate(template, { body: JSON.parse(json) as unknown }).length).toBeLessThan(
          longestRendered + 100,
        );
      }),
    );
    const huge = { body: 'x'.repeat(1_000_000) };
    expect(renderTemplate('{{body}}'.repeat(2_000), huge).length).toBeLessThan(longestRendered + 100);
  });
});

describe('templateProblem', () => {
  it('accepts paths that begin with a known name', () => {
    expect(templateProblem('At {{due_at}}: {{ body.a-b.0 }} } {', ['due_at', 'body'])).toBeUndefined();
  });

  it.each([['{{'], ['{{ }}'], ['{{a b}}'], ['{{{{body}}}}'], ['{{other}}'], ['{{body..x}}'], ['{{body.}}']])(
    'refuses %s',
    (template) => {
      expect(templateProblem(template, ['body'])).toEqual(expect.any(String));
    },
  );
});
