export function testRedisUrl(): string {
  const given = process.env['TEST_REDIS_URL'];
  if (given === undefined) throw new Error('TEST_REDIS_URL must name a Redis server');
  return given;
}
