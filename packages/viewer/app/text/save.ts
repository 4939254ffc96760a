/** How long the browser may take to begin a download (ms). */
const beginsWithinMs = 60_000

/** Gives a file to the browser, which saves it under this name. */
export const save = (file: Blob, name: string): void => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), beginsWithinMs)
}
