/**
 * Claims of a run that one history of the database can hold. When another server or a restored copy takes the database's
 * place, it may lack the last writes. The epoch of every run that is not over is then raised to the next multiple, so
 * that nothing that a holder remembers of lost claims is mistaken for what follows, and so that the epoch of a fact tells
 * in which incarnation of the log it was written.
 */
export const epochsPerIncarnation = 1_000_000;

/** In which incarnation of its run's log a fact with this epoch was written: 0 unless the database was replaced. */
export const readIncarnation = (epoch: number): number => Math.floor(epoch / epochsPerIncarnation);

/** The first epoch of the incarnation after that of this epoch. */
export const nextIncarnation = (epoch: number): number => (readIncarnation(epoch) + 1) * epochsPerIncarnation;
