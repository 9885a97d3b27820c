/** The version that is shown, without one the newest, and the file of it. */
export const readSkillSearch = ({ version, path }: Record<string, unknown>): { version?: number; path?: string } => ({
  ...(typeof version === 'number' && version > 0 && { version: Math.floor(version) }),
  ...(typeof path === 'string' && path !== '' && { path }),
});
