/** A session for the commands of tools. No model can name it, so that nothing which a model exports reaches them. */
export const privateSession = 'rondo:tools';
