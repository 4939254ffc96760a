/** A certificate for 127.0.0.1, and its key. Nothing but tests uses them. */
import { getCACertificates, setDefaultCACertificates } from "node:tls"

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9YgNY/to2rED1sQN
p73uvXWdUws9/BUnBUcwL+kkqDyhRANCAAQ0/F7Ee+vTimOmuO2IFoQYCROFfqys
gU0FqdyWI1TAm9mjJJtbwm4GYa66jXDkXrSw3tZYxEgkMUh6O/0zK/c2
-----END PRIVATE KEY-----
`

export const cert = `-----BEGIN CERTIFICATE-----
MIIBkTCCATagAwIBAgIUItqR8BlpyFB8Axk+exxkVCj5OGEwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyNTA5NDUyOFoYDzIxMjYxMTAx
MDk0NTI4WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQ0/F7Ee+vTimOmuO2IFoQYCROFfqysgU0FqdyWI1TAm9mjJJtbwm4G
Ya66jXDkXrSw3tZYxEgkMUh6O/0zK/c2o2QwYjAdBgNVHQ4EFgQUxWTSFFAng5oD
W3VOOwhmeTKpHqQwHwYDVR0jBBgwFoAUxWTSFFAng5oDW3VOOwhmeTKpHqQwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0kAMEYC
IQCcE+kIkJoO8tg5Ad7Gbl6Ue8D0wQnabs0wb8LRkwOJYwIhALhwGCd365yU3ZwH
kClkBliHqE8w+mx481T9BUXJK4M7
-----END CERTIFICATE-----
`

/** Lets this process trust it. */
export const trust = (): void => setDefaultCACertificates([...getCACertificates(), cert])
