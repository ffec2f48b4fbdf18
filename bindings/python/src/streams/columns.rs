//! Arrow tables. Each table declares its columns once, in one line each.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, Float64Builder,
    Int32Builder, Int64Builder, StringBuilder, StringDictionaryBuilder,
    TimestampMillisecondBuilder, UInt64Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

pub(crate) type Result<T> = std::result::Result<T, ArrowError>;

/// A function that makes the rows of items. With the flag, the fingerprints are signed, bit for
/// bit.
pub(crate) type BatchFunction<T> = fn(&[T], bool) -> Result<RecordBatch>;

/// Makes a batch with a row for each iteration of a loop.
///
/// The line of a column has its name, its kind, and its value in a row. The kind of a column with
/// nulls is an `Option`, and so are its values.
macro_rules! columns {
    (
        for $row:pat in $rows:expr, $signed:expr;
        $($name:ident: $Kind:ty = $value:expr,)+
    ) => {{
        struct Columns {
            $($name: $crate::streams::columns::ColumnBuilder<$Kind>,)+
        }
        let mut columns = Columns { $($name: $crate::streams::columns::ColumnBuilder::new(),)+ };
        for $row in $rows {
            $(columns.$name.push($value)?;)+
        }
        arrow_array::RecordBatch::try_from_iter_with_nullable([
            $(columns.$name.finish(stringify!($name), $signed),)+
        ])
    }};
}

pub(crate) use columns;

/// A column under construction.
pub(crate) struct ColumnBuilder<K: ColumnKind>(K::Builder);

impl<K: ColumnKind> ColumnBuilder<K> {
    pub(crate) fn new() -> Self {
        ColumnBuilder(K::builder())
    }

    /// Adds the value of the next row.
    // Not inlined, these calls would take a fifth of the time in which a join becomes a table.
    #[inline]
    pub(crate) fn push<V>(&mut self, value: V) -> Result<()>
    where
        K: Push<V>,
    {
        K::push(&mut self.0, value)
    }

    /// Returns the name, the values, and whether there may be nulls among the values.
    pub(crate) fn finish(mut self, name: &str, signed: bool) -> (&str, ArrayRef, bool) {
        let values = self.0.finish();
        // Only fingerprints have this type.
        let values = match values.as_primitive_opt::<UInt64Type>() {
            Some(prints) if signed => Arc::new(prints.unary::<_, Int64Type>(u64::cast_signed)),
            _ => values,
        };
        (name, values, K::NULLS)
    }
}

/// A kind of column.
pub(crate) trait ColumnKind {
    type Builder: ArrayBuilder;
    const NULLS: bool;

    fn builder() -> Self::Builder;
}

/// A kind of column that takes a `V` for each row.
pub(crate) trait Push<V>: ColumnKind {
    fn push(to: &mut Self::Builder, value: V) -> Result<()>;
}

/// A kind of column whose builder takes a `V` or a null for each row.
pub(crate) trait Append<V>: ColumnKind {
    fn append(to: &mut Self::Builder, value: Option<V>) -> Result<()>;
}

impl<V, K: Append<V>> Push<V> for K {
    #[inline]
    fn push(to: &mut K::Builder, value: V) -> Result<()> {
        K::append(to, Some(value))
    }
}

impl<V, K: Append<V>> Push<Option<V>> for Option<K> {
    #[inline]
    fn push(to: &mut K::Builder, value: Option<V>) -> Result<()> {
        K::append(to, value)
    }
}

impl<K: ColumnKind> ColumnKind for Option<K> {
    type Builder = K::Builder;
    const NULLS: bool = true;

    fn builder() -> K::Builder {
        K::builder()
    }
}

/// Declares kinds of columns: the types of their values, and their builders.
macro_rules! kinds {
    ($(
        $(#[$of:meta])*
        $Kind:ident<$V:ident: $Bound:path>: $Builder:ty = $builder:expr,
        |$to:ident, $value:ident| $append:expr;
    )+) => {$(
        $(#[$of])*
        pub(crate) enum $Kind {}

        impl ColumnKind for $Kind {
            type Builder = $Builder;
            const NULLS: bool = false;

            fn builder() -> $Builder {
                $builder
            }
        }

        impl<$V: $Bound> Append<$V> for $Kind {
            #[inline]
            fn append($to: &mut $Builder, $value: Option<$V>) -> Result<()> {
                $append;
                Ok(())
            }
        }
    )+};
}

kinds! {
    /// Texts.
    Utf8<V: AsRef<str>>: StringBuilder = StringBuilder::new(),
    |to, text| to.append_option(text);

    /// Words: few distinct texts, often repeated.
    Word<V: AsRef<str>>: StringDictionaryBuilder<Int32Type> = StringDictionaryBuilder::new(),
    |to, word| to.append_option(word);

    /// Bytes.
    Binary<V: AsRef<[u8]>>: BinaryBuilder = BinaryBuilder::new(),
    |to, bytes| to.append_option(bytes);

    /// Digests, 16 bytes each.
    Digest<V: Into<simkeep::Digest>>: FixedSizeBinaryBuilder = FixedSizeBinaryBuilder::new(16),
    |to, digest| match digest {
        Some(digest) => to.append_value(digest.into().0)?,
        None => to.append_null(),
    };

    /// Fingerprints, unsigned or bit for bit signed.
    Bits<V: Into<u64>>: UInt64Builder = UInt64Builder::new(),
    |to, fingerprint| to.append_option(fingerprint.map(V::into));

    /// Times, in UTC.
    Timestamp<V: Into<simkeep::Time>>: TimestampMillisecondBuilder =
        TimestampMillisecondBuilder::new().with_timezone("UTC"),
    |to, time| to.append_option(time.map(|time| time.into().as_ms()));

    /// Integers that fit in 64 bits, for example numbers of visits and classes.
    Int64<V: TryInto<i64>>: Int64Builder = Int64Builder::new(),
    |to, number| to.append_option(number.map(|number| number.try_into().unwrap_or(i64::MAX)));

    /// Integers that fit in 32 bits, for example distances and statuses.
    Int32<V: TryInto<i32>>: Int32Builder = Int32Builder::new(),
    |to, number| to.append_option(number.map(|number| number.try_into().unwrap_or(i32::MAX)));

    /// Numbers with fractions.
    Float64<V: Into<f64>>: Float64Builder = Float64Builder::new(),
    |to, number| to.append_option(number.map(V::into));

    /// Booleans.
    Boolean<V: Into<bool>>: BooleanBuilder = BooleanBuilder::new(),
    |to, flag| to.append_option(flag.map(V::into));
}
