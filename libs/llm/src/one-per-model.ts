/** More models than a deployment uses at a time; the one that was created first is dropped then. */
const most = 200;

/** One value for each model, created at its first use: it remembers what was learned or computed for that model. */
export function onePerModel<Value>(create: (model: string) => Value): (model: string) => Value {
  const values = new Map<string, Value>();
  return (model) => {
    const known = values.get(model);
    if (known !== undefined) return known;
    const [oldest] = values.keys();
    if (values.size >= most && oldest !== undefined) values.delete(oldest);
    const value = create(model);
    values.set(model, value);
    return value;
  };
}
