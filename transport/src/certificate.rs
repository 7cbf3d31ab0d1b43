//! A certificate for this run. Browsers accept it by the hash of its key (`--ignore-certificate-errors-spki-list`).

use boring::asn1::Asn1Time;
use boring::error::ErrorStack;
use boring::hash::MessageDigest;
use boring::pkey::PKey;
use boring::rsa::Rsa;
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::{X509NameBuilder, X509};

/// The TLS settings of a server, and base64 of SHA-256 of its public key.
pub fn self_signed() -> Result<(SslContextBuilder, String), ErrorStack> {
    // RSA signatures always have the same length, so a simulated handshake has, too.
    let key = PKey::from_rsa(Rsa::generate(2048)?)?;
    let mut name = X509NameBuilder::new()?;
    name.append_entry_by_text("CN", "leo-abr")?;
    let name = name.build();
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    builder.set_subject_name(&name)?;
    builder.set_issuer_name(&name)?;
    builder.set_pubkey(&key)?;
    builder.set_not_before(&*Asn1Time::days_from_now(0)?)?;
    builder.set_not_after(&*Asn1Time::days_from_now(10)?)?;
    builder.sign(&key, MessageDigest::sha256())?;
    let mut tls = SslContextBuilder::new(SslMethod::tls())?;
    tls.set_certificate(&builder.build())?;
    tls.set_private_key(&key)?;
    let hash = boring::sha::sha256(&key.public_key_to_der()?);
    Ok((tls, boring::base64::encode_block(&hash)))
}
