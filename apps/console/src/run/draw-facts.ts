import type { Fact } from '@rondo/client';

/** The colour of a fact, as a custom property of the style sheet. */
function toColor(type: Fact['type']): string {
  if (type.startsWith('tool.')) return '--tool';
  if (type.startsWith('message.') || type.startsWith('usage.')) return '--accent';
  if (type === 'run.waiting' || type.startsWith('approval.')) return '--wait';
  if (type === 'run.failed' || type === 'iteration.restarted' || type === 'model.retried' || type === 'model.fell_back')
    return '--bad';
  return '--line-strong';
}

/** One stroke for each fact, as many as fit. */
export function drawFacts(canvas: HTMLCanvasElement, facts: readonly Fact[]): void {
  const { width, height } = canvas.getBoundingClientRect();
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (!context || facts.length === 0) return;
  const style = getComputedStyle(canvas);
  const colors = new Map<string, string>(); // to read one takes long
  const readColor = (name: string): string => {
    const known = colors.get(name) ?? style.getPropertyValue(name);
    colors.set(name, known);
    return known;
  };
  const strokes = Math.min(facts.length, Math.floor(canvas.width / 2));
  const step = canvas.width / strokes;
  for (let stroke = 0; stroke < strokes; stroke++) {
    const fact = facts[Math.floor((stroke * facts.length) / strokes)];
    if (!fact) continue;
    context.fillStyle = readColor(toColor(fact.type));
    context.fillRect(Math.round(stroke * step), 0, Math.max(1, Math.round(step) - scale), canvas.height);
  }
}
