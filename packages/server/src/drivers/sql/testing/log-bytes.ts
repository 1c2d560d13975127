/** Returns the only byte of the update that a test appends as record `seq` of document `key`. */
export const byteOf = (key: number, seq: number): number => (key * 31 + seq * 7) % 251
