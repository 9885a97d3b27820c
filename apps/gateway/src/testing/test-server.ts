/** The servers that the test command starts. */
export function testServer(variable: 'TEST_REDIS_URL' | 'TEST_NATS_URL'): string {
  const url = process.env[variable];
  if (!url) throw new Error(`${variable} must name a server for tests.`);
  return url;
}
