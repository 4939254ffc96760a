/** Base64 of the bytes that several pieces of base64 stand for. Where one is none, the pieces stay as they are. */
export const joinBase64 = (pieces: ReadonlyArray<string>): string => {
  // Pieces of whole groups of three bytes are joined as they are.
  if (pieces.slice(0, -1).every((piece) => piece.length % 4 === 0 && !piece.endsWith("="))) return pieces.join("")
  try {
    return btoa(pieces.map(atob).join(""))
  } catch {
    return pieces.join("")
  }
}
