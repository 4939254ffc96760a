/** Parts of a value that are looked at to tell its size. */
const maxParts = 100_000

/** About how many bytes a value holds: those of its texts and its binary data, and some for each part. */
export const sizeOf = (whole: unknown): number => {
  const seen = new Set<object>()
  const left: Array<unknown> = [whole]
  let bytes = 0
  for (let parts = 0; left.length > 0 && parts < maxParts; parts++) {
    const value = left.pop()
    bytes += 8
    if (typeof value === "string") bytes += value.length
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength
    else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value)
      for (const part of Object.values(value)) left.push(part)
    }
  }
  return bytes
}
