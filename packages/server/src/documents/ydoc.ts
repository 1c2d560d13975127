import type { EncodedDocument } from './residents.port.ts'

const FORMAT = 1
const HEADER_BYTES = 16

/** Returns an update behind its header of 16 bytes: `DSKY`, u32 1, u64 serverVersion, both little-endian. [REST-31] */
export function ydocBytes({ version, update }: EncodedDocument): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + update.length)
  bytes.set([0x44, 0x53, 0x4b, 0x59])
  const header = new DataView(bytes.buffer)
  header.setUint32(4, FORMAT, true)
  header.setBigUint64(8, BigInt(version), true)
  bytes.set(update, HEADER_BYTES)
  return bytes
}
