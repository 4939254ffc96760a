/** The header that names the fields of a body that are unknown, and so ignored. In lower case, like all names of headers in this code. */
export const ignoredHeader = "tachograph-ignored"
