import { toTagShape } from '../dialects/xml/tag-grammar';
import { tools } from './catalog';
import type { ToolDefinition } from './define-tool';
import { listParameters } from './tool-parameters';

const catalog: readonly ToolDefinition[] = tools;

describe('the catalog', () => {
  it('has each name and each tag once', () => {
    expect(new Set(catalog.map(({ name }) => name)).size).toBe(catalog.length);
    expect(new Set(catalog.map((tool) => toTagShape(tool).tag)).size).toBe(catalog.length);
  });

  it.each(catalog)('maps only parameters that $name has', (tool) => {
    const { attributes = [], content } = tool.xml ?? {};
    const mapped = content === undefined ? attributes : [...attributes, content];

    expect([...listParameters(tool).keys()]).toEqual(expect.arrayContaining([...mapped]));
  });

  it.each(catalog.filter(({ example }) => example))('shows an example of $name that is valid', (tool) => {
    expect(tool.input.safeParse(tool.example).success).toBe(true);
  });
});
