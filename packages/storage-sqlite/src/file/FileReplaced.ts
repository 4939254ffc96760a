/** What is written to the paths of an open database would be lost, or would damage what is there. */
export class FileReplaced extends Error {
  override readonly name = "FileReplaced"
}
